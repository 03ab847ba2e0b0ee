import blocks from './blocks.json';
import profile from './profile.json';
import retention from './retention.json';
import settings from './settings.json';

export default { blocks, profile, retention, settings };
