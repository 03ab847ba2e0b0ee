import { onDemand } from './onDemand.tsx';

/** Something above the page. Focus goes in and comes back; Escape, the cross and a click outside close it. */
export const Dialog = onDemand(async () => (await import('./DialogPopup.tsx')).DialogPopup);
