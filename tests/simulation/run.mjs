// npm run simulate -- --seed S --steps N: plays the whole world from one seed. README.md tells how to read what it prints.
import { createServer, createServerModuleRunner } from 'vite';

const server = await createServer({ configFile: 'tests/simulation/vite.config.ts' });
const runner = createServerModuleRunner(server.environments.ssr);
const { simulate } = await runner.import('/tests/simulation/command.ts');
process.exitCode = await simulate(process.argv.slice(2));
await runner.close();
await server.close();
process.exit();
