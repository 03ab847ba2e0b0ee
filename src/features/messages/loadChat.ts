/** An open chat comes after the list, which is what one sees first. */
export const loadChat = () => import('./Chat.tsx');
