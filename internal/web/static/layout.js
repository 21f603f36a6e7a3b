// layout.js is the worker that computes the layout of a graph. It receives
// {count, links}, where links is a flat array of index pairs, and repeatedly posts
// {at, rest}, where at is a flat array of the coordinates x and y of each node and
// rest is true in the last message.
import '/static/vendor/d3-dispatch.min.js';
import '/static/vendor/d3-timer.min.js';
import '/static/vendor/d3-quadtree.min.js';
import '/static/vendor/d3-force.min.js';

const {forceSimulation, forceLink, forceManyBody, forceCollide, forceX, forceY} = globalThis.d3;
const golden = Math.PI * (3 - Math.sqrt(5));

// groups partitions the nodes among those with the most links: each node belongs to the
// nearest one. Nodes that none of these reaches form separate groups. Nodes without links
// belong to no group (-1).
function groups(nodes, links) {
  const next = nodes.map(() => []);
  for (const {source, target} of links) {
    next[source].push(target);
    next[target].push(source);
  }
  const byDegree = nodes.map((_, i) => i).filter((i) => next[i].length).sort((a, b) => next[b].length - next[a].length);
  const of = new Int32Array(nodes.length).fill(-1);
  let heads = 0;
  const spread = (begin) => {
    for (const i of begin) of[i] = heads++;
    for (let ring = begin; ring.length;) {
      const further = [];
      for (const i of ring) for (const j of next[i]) if (of[j] < 0) { of[j] = of[i]; further.push(j); }
      ring = further;
    }
  };
  spread(byDegree.slice(0, 300));
  for (const i of byDegree) if (of[i] < 0) spread([i]);
  return {of, heads};
}

// place computes the initial positions for a large graph: it lays out the groups as
// nodes, puts their members around them, and nodes without links on the outside. It
// returns the nodes with links.
function place(nodes, links) {
  const {of, heads} = groups(nodes, links);
  const circles = Array.from({length: heads}, () => ({size: 0}));
  for (const g of of) if (g >= 0) circles[g].size++;
  for (const c of circles) c.radius = 9 * Math.sqrt(c.size);
  const between = new Map();
  for (const {source, target} of links) {
    const [a, b] = [of[source], of[target]].sort((a, b) => a - b);
    if (a !== b) between.set(a * heads + b, {source: a, target: b});
  }
  forceSimulation(circles)
    .force('charge', forceManyBody().strength((c) => -20 - c.size).distanceMax(600))
    .force('link', forceLink([...between.values()]).distance(({source, target}) => source.radius + target.radius))
    .force('collide', forceCollide((c) => c.radius))
    .force('x', forceX().strength(0.08))
    .force('y', forceY().strength(0.08))
    .alphaDecay(0.08).stop().tick(80);
  const filled = new Int32Array(heads);
  let edge = 0;
  nodes.forEach((n, i) => {
    if (of[i] < 0) return;
    const c = circles[of[i]], k = filled[of[i]]++;
    n.x = c.x + 9 * Math.sqrt(k) * Math.cos(k * golden);
    n.y = c.y + 9 * Math.sqrt(k) * Math.sin(k * golden);
    edge += (n.x * n.x + n.y * n.y) / nodes.length;
  });
  let k = 0;
  nodes.forEach((n, i) => {
    if (of[i] >= 0) return;
    const r = Math.sqrt(2.8 * edge + 150 * k);
    n.x = r * Math.cos(k * golden);
    n.y = r * Math.sin(k * golden);
    k++;
  });
  return nodes.filter((_, i) => of[i] >= 0);
}

onmessage = ({data: {count, links}}) => {
  const nodes = Array.from({length: count}, (_, i) => ({i}));
  const pairs = [];
  for (let i = 0; i < links.length; i += 2) pairs.push({source: links[i], target: links[i + 1]});
  const post = (rest = false) => {
    const at = new Float32Array(2 * count);
    nodes.forEach((n, i) => { at[2 * i] = n.x; at[2 * i + 1] = n.y; });
    postMessage({at, rest}, [at.buffer]);
  };
  const large = count > 2000;
  const moving = large ? place(nodes, pairs) : nodes;
  const simulation = forceSimulation(moving)
    .force('charge', forceManyBody().strength(large ? -20 : -60).theta(large ? 1.4 : 0.9).distanceMax(large ? 200 : 1000))
    .force('link', forceLink(pairs).id((n) => n.i).distance(30))
    .force('x', forceX().strength(large ? 0.01 : 0.05))
    .force('y', forceY().strength(large ? 0.01 : 0.05))
    .alpha(large ? 0.3 : 1)
    .alphaDecay(large ? 0.25 : 0.0228)
    .stop();
  post();
  let shown = performance.now();
  while (simulation.alpha() > simulation.alphaMin()) {
    simulation.tick();
    if (performance.now() - shown > 250) {
      post();
      shown = performance.now();
    }
  }
  post(true);
  close();
};
