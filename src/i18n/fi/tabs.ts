import blocks from './blocks.json';
import settings from './settings.json';

export default { blocks, settings };
