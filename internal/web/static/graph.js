// graph.js draws the graph of links on a canvas: of the whole vault or, with data-note,
// of the notes within data-depth links of one note.

const box = document.getElementById('the-graph');
const canvas = box.querySelector('canvas');
const legend = document.getElementById('the-legend');
const pen = canvas.getContext('2d');
const policy = globalThis.trustedTypes?.createPolicy('notesd', {createScriptURL: (url) => {
  if (url === '/static/layout.js') return url;
  throw new TypeError('not a script of this page: ' + url);
}});

let nodes = [], links = [], at = new Float32Array(), degree = [];
let view = {x: 0, y: 0, scale: 1}, fitted = false; // fitted: the user has moved the view
let resting = false; // the layout is complete
let hover = -1, start = -1;
let picture; // the last picture drawn, which is moved along with the view

// around returns the subgraph within depth links of a note.
function around(graph, path, depth) {
  const centre = graph.nodes.findIndex((n) => n.path === path);
  if (centre < 0) return graph;
  const next = new Map();
  for (const [a, b] of graph.links) {
    (next.get(a) ?? next.set(a, []).get(a)).push(b);
    (next.get(b) ?? next.set(b, []).get(b)).push(a);
  }
  const index = new Map([[centre, 0]]);
  for (let ring = [centre]; depth > 0; depth--) {
    ring = ring.flatMap((n) => next.get(n) ?? []).filter((n) => !index.has(n) && index.set(n, index.size));
  }
  return {
    nodes: [...index.keys()].map((n) => graph.nodes[n]),
    links: graph.links.filter(([a, b]) => index.has(a) && index.has(b)).map(([a, b]) => [index.get(a), index.get(b)]),
  };
}

let worker, known;
async function fetchGraph() {
  const answer = await fetch('/graph.json');
  if (!answer.ok) {
    legend.textContent = await answer.text();
    return;
  }
  const text = await answer.text();
  if (text === known) return; // the graph did not change
  known = text;
  let graph = JSON.parse(text);
  if (box.dataset.note) graph = around(graph, box.dataset.note, Number(box.dataset.depth));
  start = graph.nodes.findIndex((n) => n.path === box.dataset.note);
  ({nodes, links} = graph);
  degree = new Array(nodes.length).fill(0);
  for (const [a, b] of links) { degree[a]++; degree[b]++; }
  hover = -1;
  canvas.style.cursor = '';
  fitted = resting = false;
  worker?.terminate();
  const script = '/static/layout.js';
  worker = new Worker(policy ? policy.createScriptURL(script) : script, {type: 'module'});
  worker.onmessage = ({data}) => {
    at = data.at;
    resting = data.rest;
    if (!fitted) fit();
    redraw();
    performance.mark('graph-' + (data.rest ? 'rest' : 'drawn'));
    const count = (n, one) => `${n} ${one}${n === 1 ? '' : 's'}`;
    legend.textContent = `${count(nodes.length, 'note')}, ${count(links.length, 'link')}. Drag to move, scroll to zoom, click to open.`;
  };
  worker.postMessage({count: nodes.length, links: Uint32Array.from(links.flat())});
}

// fit zooms to the whole graph, until the user moves the view.
function fit() {
  let low = [Infinity, Infinity], high = [-Infinity, -Infinity];
  for (let i = 0; i < at.length; i++) {
    low[i % 2] = Math.min(low[i % 2], at[i]);
    high[i % 2] = Math.max(high[i % 2], at[i]);
  }
  const wide = Math.max(high[0] - low[0], 100), tall = Math.max(high[1] - low[1], 100);
  view.scale = Math.min(2, 0.92 * Math.min(canvas.clientWidth / wide, canvas.clientHeight / tall));
  view.x = canvas.clientWidth / 2 - view.scale * (low[0] + high[0]) / 2;
  view.y = canvas.clientHeight / 2 - view.scale * (low[1] + high[1]) / 2;
}

const titleOf = ({title, path}) => title ?? path.split('/').pop().replace(/\.md$/i, '');
const radius = (i) => 2.5 + Math.min(9, Math.sqrt(degree[i]) * 0.9);
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name);

let waiting = false;
function redraw() {
  picture = undefined;
  schedule();
}
function schedule() {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => { waiting = false; draw(); });
}

// draw draws the graph or, while the view moves, its last picture.
let settle;
function draw() {
  const ratio = devicePixelRatio;
  const wide = Math.round(canvas.clientWidth * ratio), tall = Math.round(canvas.clientHeight * ratio);
  if (!wide || !tall) return; // a search has replaced the graph
  if (canvas.width !== wide || canvas.height !== tall) {
    canvas.width = wide;
    canvas.height = tall;
    picture = undefined;
  }
  pen.setTransform(1, 0, 0, 1, 0, 0);
  pen.clearRect(0, 0, wide, tall);
  if (picture) {
    const zoom = view.scale / picture.view.scale;
    pen.setTransform(zoom, 0, 0, zoom, (view.x - zoom * picture.view.x) * ratio, (view.y - zoom * picture.view.y) * ratio);
    pen.drawImage(picture.image, -wide / 2, -tall / 2);
    clearTimeout(settle);
    settle = setTimeout(redraw, 150);
    return;
  }
  if (!resting && !fitted) { // the layout is still changing
    paint(pen, wide, tall, 0, 0, ratio);
    return;
  }
  // A margin of half a screen on each side allows the picture to be moved.
  const image = new OffscreenCanvas(2 * wide, 2 * tall);
  paint(image.getContext('2d'), image.width, image.height, wide / 2, tall / 2, ratio);
  picture = {image, view: {...view}};
  pen.drawImage(image, -wide / 2, -tall / 2);
}

function paint(p, wide, tall, left, top, ratio) {
  const scale = view.scale * ratio;
  const x = (i) => at[2 * i] * scale + view.x * ratio + left;
  const y = (i) => at[2 * i + 1] * scale + view.y * ratio + top;
  p.strokeStyle = colour(links.length > 2000 ? '--line' : '--edge');
  p.lineWidth = Math.max(0.5, Math.min(1, view.scale)) * ratio;
  p.beginPath();
  for (const [a, b] of links) {
    p.moveTo(x(a), y(a));
    p.lineTo(x(b), y(b));
  }
  p.stroke();
  if (hover >= 0) {
    p.strokeStyle = colour('--link');
    p.beginPath();
    for (const [a, b] of links) {
      if (a !== hover && b !== hover) continue;
      p.moveTo(x(a), y(a));
      p.lineTo(x(b), y(b));
    }
    p.stroke();
  }
  const size = Math.max(0.35, Math.min(1.6, view.scale)) * ratio;
  for (const [fill, wanted] of [[colour('--faint'), (i) => i !== start && i !== hover], [colour('--link'), (i) => i === start || i === hover]]) {
    p.fillStyle = fill;
    p.beginPath();
    for (let i = 0; i < nodes.length; i++) {
      if (!wanted(i)) continue;
      const r = radius(i) * size;
      p.moveTo(x(i) + r, y(i));
      p.arc(x(i), y(i), r, 0, 2 * Math.PI);
    }
    p.fill();
  }
  // Titles where there is space, those of notes with the most links first.
  p.fillStyle = colour('--ink');
  p.font = `${12 * ratio}px system-ui, sans-serif`;
  p.textAlign = 'center';
  p.strokeStyle = colour('--paper'); // a halo that keeps titles readable over nodes
  p.lineWidth = 3 * ratio;
  p.lineJoin = 'round';
  const taken = [];
  const order = [...nodes.keys()].sort((a, b) => (b === start) - (a === start) || degree[b] - degree[a]);
  const few = order.slice(0, view.scale > 1.2 ? 2000 : 150);
  if (hover >= 0) few.unshift(hover);
  const height = 14 * ratio;
  for (const i of few) {
    const title = titleOf(nodes[i]).slice(0, 30), cx = x(i), cy = y(i) - (radius(i) * size + 4 * ratio);
    if (cx < 0 || cy < 0 || cx > wide || cy > tall) continue;
    const half = p.measureText(title).width / 2;
    if (i !== hover && taken.some((t) => Math.abs(t.y - cy) < height && Math.abs(t.x - cx) < t.half + half)) continue;
    taken.push({x: cx, y: cy, half});
    p.strokeText(title, cx, cy);
    p.fillText(title, cx, cy);
  }
}

// nearest returns the node under a point of the canvas, or -1.
function nearest(px, py) {
  const gx = (px - view.x) / view.scale, gy = (py - view.y) / view.scale;
  let best = -1, least = (12 / view.scale) ** 2;
  for (let i = 0; i < nodes.length; i++) {
    const d = (at[2 * i] - gx) ** 2 + (at[2 * i + 1] - gy) ** 2;
    if (d < least) { best = i; least = d; }
  }
  return best;
}

function zoom(factor, px = canvas.clientWidth / 2, py = canvas.clientHeight / 2) {
  factor = Math.min(20, Math.max(0.02, view.scale * factor)) / view.scale;
  view = {scale: view.scale * factor, x: px - (px - view.x) * factor, y: py - (py - view.y) * factor};
  fitted = true;
  schedule();
}
function pan(dx, dy) {
  view.x += dx;
  view.y += dy;
  fitted = true;
  schedule();
}

const pointers = new Map();
let moved = 0;
canvas.addEventListener('pointerdown', (e) => {
  canvas.setPointerCapture(e.pointerId);
  pointers.set(e.pointerId, e);
  moved = 0;
});
canvas.addEventListener('pointermove', (e) => {
  const before = pointers.get(e.pointerId);
  if (!before) {
    const near = nearest(e.offsetX, e.offsetY);
    if (near !== hover) {
      hover = near;
      canvas.style.cursor = hover < 0 ? '' : 'pointer';
      redraw();
    }
    return;
  }
  const dx = e.offsetX - before.offsetX, dy = e.offsetY - before.offsetY;
  moved += Math.abs(dx) + Math.abs(dy);
  if (pointers.size === 2) {
    const other = [...pointers.values()].find((p) => p.pointerId !== e.pointerId);
    const distance = (p) => Math.hypot(p.offsetX - other.offsetX, p.offsetY - other.offsetY);
    zoom(distance(e) / Math.max(1, distance(before)), other.offsetX, other.offsetY);
  } else {
    pan(dx, dy);
  }
  pointers.set(e.pointerId, e);
});
for (const type of ['pointerup', 'pointercancel']) {
  canvas.addEventListener(type, (e) => {
    const tapped = pointers.delete(e.pointerId) && type === 'pointerup' && moved < 5;
    const node = tapped ? nearest(e.offsetX, e.offsetY) : -1;
    if (node >= 0) location.href = '/n/' + nodes[node].path.split('/').map(encodeURIComponent).join('/');
  });
}
canvas.addEventListener('wheel', (e) => {
  e.preventDefault();
  zoom(Math.exp(-e.deltaY / 400), e.offsetX, e.offsetY);
}, {passive: false});
canvas.addEventListener('keydown', (e) => {
  const step = {ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60]}[e.key];
  if (step) pan(...step);
  else if (e.key === '+' || e.key === '=') zoom(1.25);
  else if (e.key === '-') zoom(0.8);
  else return;
  e.preventDefault();
});
new ResizeObserver(() => { if (!fitted && at.length) fit(); redraw(); }).observe(canvas);
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw);
addEventListener('vaultchange', fetchGraph);
fetchGraph();
