export const chromiumPath: string | undefined;
export const chromiumArgs: string[];
export const wholeBrowser: {
  readonly launchOptions: { readonly executablePath: string; readonly args: string[] };
};
