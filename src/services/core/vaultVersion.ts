import type { Deps } from './deps.ts';

/**
 * Asks the relay for its vault, and compares it with the one whose keys this device has.
 * @returns `newer` where another device has renewed the keys, `older` where the relay has gone back behind them
 */
export async function relayVault({
  api,
  crypto,
}: Pick<Deps, 'api' | 'crypto'>): Promise<'newer' | 'same' | 'older'> {
  const { version } = await api.getVault();
  const held = await crypto.vaultVersion();
  if (version === held) return 'same';
  return version > held ? 'newer' : 'older';
}
