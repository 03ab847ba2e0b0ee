import { inspect } from 'node:util';
import { buildApp } from './app.ts';
import { readConfig } from './config.ts';
import { StartupError } from './errors.ts';
import { relayVersion } from './version.ts';

// The database, its log and the secrets are for the relay's own account alone.
process.umask(0o077);

try {
  const config = readConfig(process.env);
  const relay = await buildApp({ config });
  relay.app.log.info({ version: relayVersion }, 'starting');

  let stopping = false;
  const stop = (signal: NodeJS.Signals) => {
    // Ctrl+C in a terminal often comes twice, by way of npm: the second one must not cut off the drain.
    if (stopping) return;
    stopping = true;
    relay.app.log.info({ signal }, 'stopping');
    relay.close().then(
      () => process.exit(0),
      (error: unknown) => {
        relay.app.log.fatal({ err: error }, 'stopping failed');
        process.exit(1);
      },
    );
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);

  const { port } = await relay.listen().catch(async (error: unknown) => {
    await relay.close();
    throw error;
  });
  const host = config.host.includes(':') ? `[${config.host}]` : config.host;
  const isHere = ['127.0.0.1', '0.0.0.0', '::1', '::'].includes(config.host);
  const sentence = `Sinetti is ready at http://${isHere ? 'localhost' : host}:${port}`;
  // A person reads a sentence; whoever collects the log gets a line as all its others, whatever its level.
  const line = JSON.stringify({ level: 30, time: Date.now(), pid: process.pid, msg: sentence });
  process.stdout.write(`${process.stdout.isTTY ? sentence : line}\n`);
} catch (error) {
  process.stderr.write(`${error instanceof StartupError ? error.message : inspect(error)}\n`);
  process.exit(1);
}
