import { eventually } from './eventually.ts';
import type { MailServer } from './mailServer.ts';

/** The code that was mailed last to an address, once one is there. @param former a code that has another in its place */
export function codeMailedTo(server: MailServer, address: string, former?: string): Promise<string> {
  return eventually(() => {
    const code = server.codeFor(address);
    if (code === null || code === former) throw new Error(`no code was mailed to ${address}`);
    return code;
  });
}
