import { readFile } from 'node:fs/promises';
import type { FastifyBaseLogger } from 'fastify';
import { defaultOperator, type Operator, wrongFact, wrongSetting } from '../../contract/operator.ts';
import type { Config } from '../config.ts';
import { StartupError } from '../errors.ts';

/** The form of each member of an operator's file, without its place in a list. Each sentence completes "<member> …". */
const forms: Readonly<Record<string, string>> = {
  productName: 'must be one line of 1 to 30 characters, none of them invisible',
  supportEmail: 'must be an email address, or null',
  privacyEmail: 'must be an email address, or null',
  controller: 'must be an object with name, address and country, or null',
  'controller.name': 'must be one line of 1 to 120 characters, none of them invisible',
  'controller.address': 'must be one line of 1 to 240 characters, none of them invisible',
  'controller.country': 'must be one line of 1 to 60 characters, none of them invisible',
  governingLaw: 'must be an object with en and fi',
  'governingLaw.en': 'must be one line of 1 to 60 characters, none of them invisible',
  'governingLaw.fi': 'must be one line of 1 to 60 characters, none of them invisible',
  certificates: 'must be a list of at most 6',
  'certificates.name': 'must be one line of 1 to 40 characters, none of them invisible',
  'certificates.issuer': 'must be one line of 1 to 80 characters, none of them invisible',
};

/** Reads the operator's settings as the relay starts. @throws StartupError as {@link operatorOf} */
export async function readOperator(
  config: Pick<Config, 'addresses' | 'operatorFile'>,
  log: Pick<FastifyBaseLogger, 'info'>,
): Promise<Operator> {
  const operator = await operatorOf(config);
  const unreachable = unreachableIn(operator);
  if (unreachable.length > 0) log.info({ unreachable }, 'nobody reads these addresses: set OPERATOR_FILE');
  return operator;
}

/**
 * Reads what the operator says of themselves, and puts the relay's addresses beside it.
 * @throws StartupError naming the file and its first wrong member
 */
export async function operatorOf({
  addresses,
  operatorFile,
}: Pick<Config, 'addresses' | 'operatorFile'>): Promise<Operator> {
  const operator = { ...(await factsIn(operatorFile)), ...addresses };
  if (wrongSetting(operator) !== undefined) {
    throw new StartupError(
      'VITE_API_HOST and VITE_MQTT_URL must be addresses without a query or a name in them.',
    );
  }
  return operator;
}

/** The addresses that reach nobody: those of the defaults do, until an operator names their own. */
export function unreachableIn({ privacyEmail, supportEmail }: Operator): string[] {
  return [supportEmail, privacyEmail].flatMap((address) => (address?.endsWith('.example') ? [address] : []));
}

async function factsIn(file: string | null): Promise<Operator> {
  if (file === null) return defaultOperator;
  const content = await readFile(file, 'utf8').catch(() => {
    throw new StartupError(`OPERATOR_FILE: ${file} can't be read.`);
  });
  let facts: unknown;
  try {
    facts = JSON.parse(content);
  } catch {
    throw new StartupError(`OPERATOR_FILE: ${file} is not JSON.`);
  }
  const wrong = wrongFact(facts);
  if (wrong !== undefined) {
    const form = forms[wrong.replaceAll(/\.\d+/g, '')] ?? 'is not known';
    throw new StartupError(
      `OPERATOR_FILE: ${file}: ${wrong === '' ? 'it must be an object' : `${wrong} ${form}`}.`,
    );
  }
  return { ...defaultOperator, ...(facts as object) };
}
