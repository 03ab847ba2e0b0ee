import { said } from './console.js';
import './example.mjs';

document.querySelector('#page').textContent = said.join('\n');
const worker = new Worker(new URL('./worker.js', import.meta.url), { type: 'module' });
worker.addEventListener('message', ({ data }) => {
  document.querySelector('#worker').textContent = data;
});
