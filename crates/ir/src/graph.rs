// SPDX-License-Identifier: MIT OR Apache-2.0
//! Graphs given as lists of edges: node `n` leads to all of `edges[n]`. Everything here is linear, and nothing recurses.

/// Returns all nodes, each behind those that it leads to; where a circle makes that impossible, in the order of the search.
pub fn postorder(edges: &[Vec<usize>]) -> Vec<usize> {
    let mut order = Vec::with_capacity(edges.len());
    let mut seen = vec![false; edges.len()];
    for start in 0..edges.len() {
        let mut path = if std::mem::replace(&mut seen[start], true) { vec![] } else { vec![(start, 0)] };
        while let Some((node, next)) = path.last_mut() {
            match edges[*node].get(*next) {
                Some(&to) => {
                    *next += 1;
                    if !std::mem::replace(&mut seen[to], true) {
                        path.push((to, 0));
                    }
                }
                None => {
                    order.push(*node);
                    path.pop();
                }
            }
        }
    }
    order
}

/// Returns the nodes that can reach themselves: each list has those that lead to each other, ascending.
pub fn circles(edges: &[Vec<usize>]) -> Vec<Vec<usize>> {
    // Kosaraju: what the reversed graph reaches from the last node of the order is its component.
    let mut reversed = vec![Vec::new(); edges.len()];
    for (from, targets) in edges.iter().enumerate() {
        targets.iter().for_each(|to| reversed[*to].push(from));
    }
    let mut found = Vec::new();
    let mut seen = vec![false; edges.len()];
    for start in postorder(edges).into_iter().rev() {
        if std::mem::replace(&mut seen[start], true) {
            continue;
        }
        let (mut component, mut at) = (vec![start], 0);
        while let Some(&node) = component.get(at) {
            at += 1;
            for &from in &reversed[node] {
                if !std::mem::replace(&mut seen[from], true) {
                    component.push(from);
                }
            }
        }
        if component.len() > 1 || edges[start].contains(&start) {
            component.sort_unstable();
            found.push(component);
        }
    }
    found
}

/// Returns for each node whether it can reach itself.
pub fn in_circles(edges: &[Vec<usize>]) -> Vec<bool> {
    let mut circular = vec![false; edges.len()];
    circles(edges).into_iter().flatten().for_each(|node| circular[node] = true);
    circular
}

/// Returns for each node how many nodes the longest path from it has. There must be no circle.
pub fn depths(edges: &[Vec<usize>]) -> Vec<usize> {
    let mut depths = vec![0; edges.len()];
    for node in postorder(edges) {
        depths[node] = 1 + edges[node].iter().map(|to| depths[*to]).max().unwrap_or(0);
    }
    depths
}

#[cfg(test)]
mod tests {
    use super::{depths, in_circles, postorder};

    #[test]
    fn nodes_follow_what_they_lead_to() {
        assert_eq!(postorder(&[vec![1, 2], vec![2], vec![]]), [2, 1, 0]);
        assert_eq!(depths(&[vec![1, 2], vec![2], vec![], vec![]]), [3, 2, 1, 1]);
    }

    #[test]
    fn circles_are_found_and_what_leads_to_them_is_not_in_one() {
        assert_eq!(
            in_circles(&[vec![1], vec![2], vec![1], vec![3], vec![]]),
            [false, true, true, true, false]
        );
    }

    #[test]
    fn a_long_chain_needs_no_stack() {
        const LONG: usize = 200_000;
        let chain: Vec<Vec<usize>> = (1..=LONG).map(|to| if to < LONG { vec![to] } else { vec![] }).collect();
        assert_eq!(depths(&chain)[0], LONG);
        assert!(!in_circles(&chain).contains(&true));
        let circle: Vec<Vec<usize>> = (1..=LONG).map(|to| vec![to % LONG]).collect();
        assert!(!in_circles(&circle).contains(&false));
    }
}
