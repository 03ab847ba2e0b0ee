export function findPostgres(): string | null;
export function findRedis(): string | null;
export function missingServers(): string[];
