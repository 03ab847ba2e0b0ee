import { ProvePage } from '../pages/prove/ProvePage.tsx';
import { createProof } from '../services/proof/index.ts';

const proof = createProof();

/** The page that proves things, with what it does them by. */
export const ProveRoute = () => <ProvePage proof={proof} />;
