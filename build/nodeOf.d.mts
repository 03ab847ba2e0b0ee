export function nodeOf(version: string): string;
