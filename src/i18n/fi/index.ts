import legal from './legal.ts';
import members from './members.ts';
import tabs from './tabs.ts';
import visitors from './visitors.ts';

/** All of this language. */
export default { ...visitors, ...members, ...tabs, ...legal };
