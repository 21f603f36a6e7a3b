// layout.js is the worker that places the nodes of a graph. It gets
// {count, links}, links being pairs of indexes in one array, and posts the
// coordinates, x and y of each node in one array, again and again until the
// forces are at rest.
import '/static/vendor/d3-dispatch.min.js';
import '/static/vendor/d3-timer.min.js';
import '/static/vendor/d3-quadtree.min.js';
import '/static/vendor/d3-force.min.js';

const {forceSimulation, forceLink, forceManyBody, forceX, forceY} = globalThis.d3;

onmessage = ({data: {count, links}}) => {
  const nodes = Array.from({length: count}, () => ({}));
  const pairs = [];
  for (let i = 0; i < links.length; i += 2) pairs.push({source: links[i], target: links[i + 1]});
  const large = count > 2000;
  const simulation = forceSimulation(nodes)
    .force('charge', forceManyBody().strength(large ? -20 : -60).theta(large ? 1.4 : 0.9).distanceMax(large ? 400 : 1000))
    .force('link', forceLink(pairs).distance(30))
    .force('x', forceX().strength(0.05))
    .force('y', forceY().strength(0.05))
    .alphaDecay(large ? 0.05 : 0.0228)
    .stop();
  const post = () => {
    const at = new Float32Array(2 * count);
    nodes.forEach((n, i) => { at[2 * i] = n.x; at[2 * i + 1] = n.y; });
    postMessage(at, [at.buffer]);
  };
  post();
  let shown = performance.now();
  while (simulation.alpha() > simulation.alphaMin()) {
    simulation.tick();
    if (performance.now() - shown > 100) {
      post();
      shown = performance.now();
    }
  }
  post();
  close();
};
