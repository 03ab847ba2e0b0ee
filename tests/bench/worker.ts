import { expose } from 'comlink';
import { run } from './run.ts';

expose(run);
