export const inCI: boolean;
