export const given: { name: string | null; cases: readonly unknown[] };
