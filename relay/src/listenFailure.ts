import { errorCode } from './errorCode.ts';
import { StartupError } from './errors.ts';

/** An address to listen on, with the names of its settings. */
export interface ListenAddress {
  readonly host: string;
  readonly port: number;
  readonly hostSetting: string;
  readonly portSetting: string;
}

/** The error to throw when an address can't be listened on: a StartupError if the operator can mend it. */
export function listenFailure(error: unknown, address: ListenAddress): unknown {
  const { host, port, hostSetting, portSetting } = address;
  const code = errorCode(error);
  if (code === 'EADDRINUSE') {
    return new StartupError(`Port ${port} is already in use. Set ${portSetting} to another one.`);
  }
  if (code === 'EACCES') {
    return new StartupError(
      `Port ${port} needs more rights than this process has. Set ${portSetting} to another one.`,
    );
  }
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') {
    return new StartupError(
      `This machine has no address ${host} to listen on. Set ${hostSetting} to another one.`,
    );
  }
  return error;
}
