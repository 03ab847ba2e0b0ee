import blocks from './blocks.json';
import retention from './retention.json';
import settings from './settings.json';
import unvouched from './unvouched.json';

export default { blocks, retention, settings, unvouched };
