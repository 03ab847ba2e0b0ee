export function differencesOf(one: string, other: string): string[];
