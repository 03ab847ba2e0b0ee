import { said } from './console.js';
import './example.mjs';

const { postMessage } = self;
postMessage(said.join('\n'));
