interface TrustedTypesFactory {
  createPolicy(
    name: string,
    rules: { createScriptURL(url: string): string },
  ): { createScriptURL(url: string): object };
}

/**
 * The address of a script under Trusted Types, by a policy that allows nothing else; plain where the browser has none.
 * Its type is that of what takes it: they know strings only, and must be given what the policy made.
 * @param policy one that the page's Content-Security-Policy names; it can be made once only
 */
export function trustedScriptUrl(policy: string, scriptUrl: string): string {
  const { trustedTypes } = globalThis as { trustedTypes?: TrustedTypesFactory };
  if (trustedTypes === undefined) return scriptUrl;
  const made = trustedTypes.createPolicy(policy, {
    createScriptURL(url) {
      if (url !== scriptUrl) throw new TypeError(`not for ${policy}`);
      return url;
    },
  });
  return made.createScriptURL(scriptUrl) as unknown as string;
}
