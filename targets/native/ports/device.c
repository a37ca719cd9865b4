/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/ethtool.h>
#include <linux/if_packet.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ports/device.h"

static bool device_ask(int fd, struct ifreq *request, struct carrick_device *device) {
    if (ioctl(fd, SIOCGIFINDEX, request) != 0)
        return false;
    device->index = (uint32_t)request->ifr_ifindex;
    if (ioctl(fd, SIOCGIFMTU, request) != 0)
        return false;
    device->mtu = (uint32_t)request->ifr_mtu;
    if (ioctl(fd, SIOCGIFHWADDR, request) != 0)
        return false;
    memcpy(device->mac, request->ifr_hwaddr.sa_data, sizeof device->mac);
    struct ethtool_drvinfo driver = {.cmd = ETHTOOL_GDRVINFO};
    request->ifr_data = (void *)&driver;
    device->paired = ioctl(fd, SIOCETHTOOL, request) == 0 && strcmp(driver.driver, "veth") == 0;
    struct ethtool_channels channels = {.cmd = ETHTOOL_GCHANNELS};
    request->ifr_data = (void *)&channels;
    device->queues = ioctl(fd, SIOCETHTOOL, request) == 0 ? channels.rx_count + channels.combined_count : 1;
    return true;
}

bool carrick_device_ask(const char *name, struct carrick_device *device) {
    struct ifreq request = {0};
    if (strlen(name) >= sizeof request.ifr_name) {
        errno = ENODEV;
        return false;
    }
    memcpy(request.ifr_name, name, strlen(name));
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return false;
    bool known = device_ask(fd, &request, device);
    int why = errno;
    close(fd);
    errno = why;
    return known;
}

void carrick_device_under(struct carrick_port *port, const char *name, const struct carrick_device *device) {
    port->device = device->index;
    port->mtu = device->mtu;
    port->paired = device->paired;
    memcpy(port->mac, device->mac, sizeof port->mac);
    snprintf(port->device_name, sizeof port->device_name, "%.15s", name);
}

bool carrick_device_promiscuous(int socket, uint32_t index) {
    struct packet_mreq request = {.mr_ifindex = (int)index, .mr_type = PACKET_MR_PROMISC};
    return setsockopt(socket, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &request, sizeof request) == 0;
}

/* Joins the group whose address ends with these 32 bits, on Ethernet (RFC 2464 §7). */
static bool device_join(int socket, uint32_t index, uint32_t group) {
    struct packet_mreq request = {.mr_ifindex = (int)index,
                                  .mr_type = PACKET_MR_MULTICAST,
                                  .mr_alen = 6,
                                  .mr_address = {0x33, 0x33, (uint8_t)(group >> 24), (uint8_t)(group >> 16),
                                                 (uint8_t)(group >> 8), (uint8_t)group}};
    return setsockopt(socket, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &request, sizeof request) == 0;
}

bool carrick_device_join(int socket, uint32_t index, struct carrick_ip6_address address) {
    if (carrick_address_is_ipv4(address))
        return true;
    /* All nodes, and the solicited-node group (RFC 4291 §2.7.1). */
    const uint32_t all_nodes = 1, solicited = UINT32_C(0xff000000) | ((uint32_t)address.low & 0xffffff);
    return device_join(socket, index, all_nodes) && device_join(socket, index, solicited);
}

bool carrick_device_missing(const char *name, int why, struct carrick_port_error *error) {
    if (why != ENODEV && why != ENXIO)
        return false;
    snprintf(error->text, sizeof error->text,
             "There is no network device `%.100s` here: `ip link` lists those that there are.", name);
    return true;
}
