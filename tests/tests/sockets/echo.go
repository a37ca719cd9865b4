// SPDX-License-Identifier: MIT OR Apache-2.0

// An echo server and its client.
//
//	echo serve ADDRESS
//	echo ask ADDRESS
package main

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"time"
)

const (
	size     = 3000000
	patience = 20 * time.Second
)

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func serve(address string) {
	listener, err := net.Listen("tcp4", address)
	check(err)
	fmt.Println("serving")
	for {
		connection, err := listener.Accept()
		check(err)
		go func() {
			_, _ = io.Copy(connection, connection)
			_ = connection.Close()
		}()
	}
}

// dial tries again for a while: a server may be served a moment after it listens.
func dial(address string) net.Conn {
	for begin := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		connection, err := net.Dial("tcp4", address)
		if err == nil || time.Since(begin) > time.Second {
			check(err)
			return connection
		}
	}
}

func ask(address string) {
	connection := dial(address)
	check(connection.SetDeadline(time.Now().Add(patience)))
	sent := make([]byte, size)
	for i := range sent {
		sent[i] = byte(i % 251)
	}
	go func() {
		_, err := connection.Write(sent)
		check(err)
		check(connection.(*net.TCPConn).CloseWrite())
	}()
	got, err := io.ReadAll(connection)
	check(err)
	if !bytes.Equal(got, sent) {
		check(fmt.Errorf("%d bytes, and not the same", len(got)))
	}
	fmt.Println(len(got), "the same")
}

func main() {
	if os.Args[1] == "serve" {
		serve(os.Args[2])
	}
	ask(os.Args[2])
}
