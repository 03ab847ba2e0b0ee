import { accessSync, constants, readdirSync } from 'node:fs';
import path from 'node:path';

/** Debian keeps PostgreSQL's server programs out of PATH, a folder for each version. */
const debianFolder = '/usr/lib/postgresql';
const oldestPostgres = 15;

/** The folder of PostgreSQL's server programs, or null if they aren't installed. */
export function findPostgres() {
  return findFolder('initdb', [...debianVersions(), ...pathFolders()]);
}

/** The path of redis-server, or of valkey-server, which is the same; null if neither is installed. */
export function findRedis() {
  for (const name of ['redis-server', 'valkey-server']) {
    const folder = findFolder(name, pathFolders());
    if (folder !== null) return path.join(folder, name);
  }
  return null;
}

/** The servers that these tests need and this machine lacks, by the names of their Debian packages. */
export function missingServers() {
  return [
    ...(findPostgres() === null ? ['postgresql'] : []),
    ...(findRedis() === null ? ['redis-server'] : []),
  ];
}

const pathFolders = () => (process.env.PATH ?? '').split(path.delimiter).filter((folder) => folder !== '');

function debianVersions() {
  try {
    return readdirSync(debianFolder)
      .filter((version) => Number(version) >= oldestPostgres)
      .map((version) => path.join(debianFolder, version, 'bin'));
  } catch {
    return [];
  }
}

function findFolder(program, folders) {
  const isThere = (folder) => {
    try {
      accessSync(path.join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  };
  return folders.find(isThere) ?? null;
}
