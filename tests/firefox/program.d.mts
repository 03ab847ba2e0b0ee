export const firefoxPath: string | undefined;
