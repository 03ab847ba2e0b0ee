import blocks from './blocks.json';
import retention from './retention.json';
import settings from './settings.json';

export default { blocks, retention, settings };
