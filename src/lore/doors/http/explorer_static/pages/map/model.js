// model: the knowledge map as lists that are quick to filter and to walk. Nodes and links go by their place in them.

export const TREE = "hierarchical";

/** {nodes, links, clusters, total, byId, near}. near: for each node, the links that touch it. */
export function modelOf({ nodes, links, clusters, total }) {
  const near = nodes.map(() => []);
  links.forEach(({ source, target }, at) => {
    near[source].push(at);
    if (target !== source) near[target].push(at);
  });
  return { nodes, links, clusters, total, near, byId: new Map(nodes.map((node, at) => [node.id, at])) };
}

/** The other end of a link. */
export function otherEnd(link, node) {
  return link.source === node ? link.target : link.source;
}

/** The neighbours of a node that are in sight. */
export function neighbours(model, shown, node) {
  const ends = model.near[node].filter((at) => shown.links[at]).map((at) => otherEnd(model.links[at], node));
  return [...new Set(ends)];
}

/** What passes: {nodes, links} as lists of 0 and 1, their counts, and mode: what has an arrangement of its own.
 * wanted: {projects, kinds, links: lists, empty for all; trees: only trees; tree: only the tree of this node}. */
export function filtered(model, wanted) {
  const passes = (list, value) => !list.length || list.includes(value);
  const nodes = Uint8Array.from(model.nodes, (node) => passes(wanted.projects, node.project) && passes(wanted.kinds, node.kind));
  const tree = wanted.tree >= 0 ? treeOf(model, wanted.tree) : null;
  const trees = wanted.trees || tree;
  const links = Uint8Array.from(model.links, ({ source, target, kind }) =>
    nodes[source] && nodes[target] && (trees ? kind === TREE : passes(wanted.links, kind)) && (!tree || tree.has(source)),
  );
  if (tree) nodes.forEach((_, at) => (nodes[at] &= tree.has(at)));
  else if (trees) nodes.forEach((_, at) => (nodes[at] &= model.near[at].some((link) => links[link])));
  const mode = tree ? `tree ${wanted.tree}` : trees ? "trees" : "all";
  return { nodes, links, mode, nodeCount: sum(nodes), linkCount: sum(links) };
}

/** All nodes of the tree that a node belongs to. */
function treeOf(model, node) {
  const found = new Set([node]);
  const open = [node];
  while (open.length) {
    const at = open.pop();
    for (const link of model.near[at]) {
      const other = otherEnd(model.links[link], at);
      if (model.links[link].kind !== TREE || found.has(other)) continue;
      found.add(other);
      open.push(other);
    }
  }
  return found;
}

/** How often each value of a field occurs: list of [value, count], the most frequent first. */
export function tally(items, field) {
  const counts = new Map();
  for (const item of items) counts.set(item[field], (counts.get(item[field]) ?? 0) + 1);
  return [...counts].sort((one, other) => other[1] - one[1]);
}

function sum(list) {
  let total = 0;
  for (const value of list) total += value;
  return total;
}
