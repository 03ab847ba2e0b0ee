import retention from './retention.json';
import settings from './settings.json';

export default { retention, settings };
