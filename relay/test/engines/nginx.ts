import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { eventually } from '../eventually.ts';
import { temporaryFolder } from '../helpers.ts';
import { freePort } from '../servers/freePort.ts';

export interface Nginx {
  /** `https://localhost:…` */
  readonly url: string;
  /** The certificate that it shows, which nobody has signed but itself. */
  readonly certificate: string;
  close(): Promise<void>;
}

/** nginx before relays at these ports, by the page that hosts copy, but for its names, ports and files. */
export async function startNginx(ports: readonly number[]): Promise<Nginx> {
  const folder = await temporaryFolder();
  const [port, keysPort] = [await freePort(), await freePort()];
  const [certificate, key] = ['certificate.pem', 'key.pem'].map((file) => path.join(folder, file));
  const request = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '1', '-subj', '/CN=localhost'];
  const names = ['-addext', 'subjectAltName=DNS:localhost', '-keyout', key ?? '', '-out', certificate ?? ''];
  execFileSync('openssl', [...request, ...names], { stdio: 'ignore' });

  const page = await readFile(new URL('../../deploy/nginx.conf', import.meta.url), 'utf8');
  const servers = ports.map((one) => `server 127.0.0.1:${one};`).join(' ');
  const [withoutRedirect = ''] = page.split(/^server \{\s+listen 80;/m);
  let listening = 0;
  const site = withoutRedirect
    .replaceAll(/^ *listen \[::\].*\n/gm, '')
    .replaceAll('listen 443 ssl', () => `listen 127.0.0.1:${[port, keysPort][listening++]} ssl`)
    .replaceAll(/\/etc\/letsencrypt\S+fullchain\.pem/g, certificate ?? '')
    .replaceAll(/\/etc\/letsencrypt\S+privkey\.pem/g, key ?? '')
    .replaceAll(/\b(?:keys\.)?chat\.example\.org;/g, 'localhost;')
    .replace('server 127.0.0.1:8080;', servers);
  const places = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  for (const place of places) await mkdir(path.join(folder, place));
  const paths = places.map((place) => `${place}_temp_path ${folder}/${place};`).join('\n');
  const whole = `pid ${folder}/pid; daemon off; error_log stderr;
    events { worker_connections 1024; }
    http { ${paths}\n${site} }`;
  const file = path.join(folder, 'nginx.conf');
  await writeFile(file, whole);

  const nginx: ChildProcess = spawn('nginx', ['-c', file, '-e', 'stderr'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  nginx.stderr?.on('data', (chunk: Buffer) => {
    said = (said + chunk.toString()).slice(-4096);
  });
  await eventually(async () => {
    if (nginx.exitCode !== null) throw new Error(`nginx ended: ${said}`);
    await readFile(`${folder}/pid`);
  });
  return {
    url: `https://localhost:${port}`,
    certificate: await readFile(certificate ?? '', 'utf8'),
    async close() {
      const ended = once(nginx, 'close');
      nginx.kill('SIGTERM');
      await ended;
      await rm(folder, { recursive: true });
    },
  };
}
