import legal from './legal.json';
import prove from './prove.json';

export default { legal, prove };
