import { Failure } from './chain/errors.ts';

/**
 * The settings of an installation by its operator, and where its calls go: the one thing that a relay serves with a client and that no release
 * states. The relay and the client read it by `relay/contract/operator.ts`; written anew here, because this folder imports nothing of the rest.
 */
export interface OperatorSettings {
  readonly productName: string;
  readonly supportEmail: string | null;
  readonly privacyEmail: string | null;
  readonly controller: { readonly name: string; readonly address: string; readonly country: string } | null;
  readonly governingLaw: { readonly en: string; readonly fi: string };
  readonly certificates: readonly { readonly name: string; readonly issuer: string }[];
  /** The origin of the API; null for the page's own. */
  readonly apiHost: string | null;
  /** The WebSocket address of MQTT; null for the API's own. */
  readonly mqttUrl: string | null;
}

/** The address of the settings at the origin of the app. */
export const operatorPath = '/operator.json';
/** The one file of a release that a relay fills in: it has the product's name, for browsers that install the app. */
export const manifestPath = '/manifest.webmanifest';

/**
 * Reads the settings: JSON with these members and no others, as `JSON.stringify` writes it.
 * @throws Failure `different` naming the first member that is wrong
 */
export function parseOperator(content: Uint8Array): OperatorSettings {
  let value: unknown;
  const text = Buffer.from(content).toString('utf8');
  try {
    value = JSON.parse(text);
  } catch {
    return refuse('is no JSON');
  }
  // In another spelling a name could be there twice, and mean one thing here and another to a browser.
  if (JSON.stringify(value) !== text) return refuse('is not written as JSON.stringify writes it');
  const fields = membersOf(value, 'it', [
    'productName',
    'supportEmail',
    'privacyEmail',
    'controller',
    'governingLaw',
    'certificates',
    'apiHost',
    'mqttUrl',
  ]);
  const law = membersOf(fields.governingLaw, 'governingLaw', ['en', 'fi']);
  const { certificates, controller } = fields;
  if (!Array.isArray(certificates) || certificates.length > 6) return refuse('has wrong certificates');
  return {
    productName: line(fields.productName, 'productName', 30),
    supportEmail: nullOr(fields.supportEmail, (email) => matching(email, 'supportEmail', 254, emailForm)),
    privacyEmail: nullOr(fields.privacyEmail, (email) => matching(email, 'privacyEmail', 254, emailForm)),
    controller: nullOr(controller, (party) => {
      const { address, country, name } = membersOf(party, 'controller', ['name', 'address', 'country']);
      return {
        name: line(name, 'controller.name', 120),
        address: line(address, 'controller.address', 240),
        country: line(country, 'controller.country', 60),
      };
    }),
    governingLaw: { en: line(law.en, 'governingLaw.en', 60), fi: line(law.fi, 'governingLaw.fi', 60) },
    certificates: certificates.map((item: unknown, at) => {
      const where = `certificates.${at}`;
      const { issuer, name } = membersOf(item, where, ['name', 'issuer']);
      return { name: line(name, `${where}.name`, 40), issuer: line(issuer, `${where}.issuer`, 80) };
    }),
    apiHost: nullOr(fields.apiHost, (host) => address(host, 'apiHost', /^https?:\/\/[\w.:[\]-]+$/)),
    mqttUrl: nullOr(fields.mqttUrl, (url) =>
      address(url, 'mqttUrl', /^wss?:\/\/[\w.:[\]-]+(?:\/[\w./~-]*)?$/),
    ),
  };
}

/** Returns the lines by which a reader is told what an operator says. */
export function describeOperator(settings: OperatorSettings): string[] {
  const {
    apiHost,
    certificates,
    controller,
    governingLaw,
    mqttUrl,
    privacyEmail,
    productName,
    supportEmail,
  } = settings;
  const party = controller === null ? 'nobody named' : Object.values(controller).join(', ');
  return [
    `the operator says, in ${operatorPath}, which nobody has signed:`,
    `  product       ${productName}`,
    `  help          ${supportEmail ?? 'no address'}`,
    `  privacy       ${privacyEmail ?? 'no address'}`,
    `  controller    ${party}`,
    `  law           ${governingLaw.en} / ${governingLaw.fi}`,
    ...certificates.map(({ issuer, name }) => `  certificate   ${name}, by ${issuer}`),
    `  calls go to   ${apiHost ?? 'the same address'}`,
    `  messages by   ${mqttUrl ?? 'the same address'}`,
  ];
}

const place = '"%productName%"';

/** Returns the manifest as a relay serves it: the release's, with the product's name in the two places for it. */
export function filledManifest(released: Uint8Array, { productName }: OperatorSettings): Buffer {
  const text = Buffer.from(released).toString('utf8');
  return Buffer.from(text.replaceAll(place, () => JSON.stringify(productName)));
}

/** Returns the release's manifest that a served one was filled from; what was served itself if it was filled in another way. */
export function releasedManifest(served: Uint8Array, settings: OperatorSettings): Uint8Array {
  const name = JSON.stringify(settings.productName);
  const released = ['name', 'short_name'].reduce(
    (text, member) => text.replace(`"${member}": ${name}`, () => `"${member}": ${place}`),
    Buffer.from(served).toString('utf8'),
  );
  const content = Buffer.from(released);
  return filledManifest(content, settings).equals(served) ? content : served;
}

const emailForm = /^[\w.'+-]+@[\w-]+(?:\.[\w-]+)+$/;

function refuse(sentence: string): never {
  throw new Failure('different', `${operatorPath} ${sentence}`);
}

function membersOf<Name extends string>(
  value: unknown,
  where: string,
  names: readonly Name[],
): Readonly<Record<Name, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return refuse(`has a wrong ${where}`);
  const unknown = Object.keys(value).filter((name) => !names.includes(name as Name));
  if (unknown.length > 0) return refuse(`has a member that is not known: ${unknown.join(', ')}`);
  const missing = names.filter((name) => !Object.hasOwn(value, name));
  return missing.length > 0
    ? refuse(`has no ${missing.join(', ')}`)
    : (value as Readonly<Record<Name, unknown>>);
}

function nullOr<T>(value: unknown, read: (value: unknown) => T): T | null {
  return value === null ? null : read(value);
}

function matching(value: unknown, where: string, most: number, form: RegExp): string {
  return typeof value === 'string' && value.length <= most && form.test(value)
    ? value
    : refuse(`has a wrong ${where}`);
}

/** An address of that form which is one: with a port that there is not, Node.js would throw wherever it is used. */
function address(value: unknown, where: string, form: RegExp): string {
  const read = matching(value, where, 200, form);
  return URL.canParse(read) ? read : refuse(`has a wrong ${where}`);
}

/** One line that people read, without marks that draw nothing or turn the text. */
function line(value: unknown, where: string, most: number): string {
  const read = matching(value, where, most, /^[^\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]+$/u);
  return read === read.trim() ? read : refuse(`has a wrong ${where}`);
}
