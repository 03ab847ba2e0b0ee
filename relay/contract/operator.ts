/**
 * The facts that are true of one installation and not of the software, as the relay serves it at `/operator.json`. A door of its own,
 * `@sinetti/relay/contract/operator`: the page reads it before it paints, so without a library of schemas.
 */
export interface OperatorFacts {
  readonly productName: string;
  /** Where people get help. */
  readonly supportEmail: string | null;
  /** Where requests about personal data go. */
  readonly privacyEmail: string | null;
  /** The party that is responsible for the personal data. */
  readonly controller: { readonly name: string; readonly address: string; readonly country: string } | null;
  /** The governing law as the subject of a sentence, by language. */
  readonly governingLaw: { readonly en: string; readonly fi: string };
  /** The certificates that the operator holds. */
  readonly certificates: readonly { readonly name: string; readonly issuer: string }[];
}

/** The facts, and where the client finds the relay. */
export interface Operator extends OperatorFacts {
  /** The origin of the API; null for the page's own. */
  readonly apiHost: string | null;
  /** The WebSocket address of MQTT; null for the API's own. */
  readonly mqttUrl: string | null;
}

/** The address of the settings at the origin of the app. */
export const operatorPath = '/operator.json';

/** The settings of an operator who has said nothing. The addresses reach nobody. */
export const defaultOperator: Operator = {
  productName: 'Sinetti',
  supportEmail: 'support@sinetti.example',
  privacyEmail: 'privacy@sinetti.example',
  controller: null,
  governingLaw: { en: 'Finnish law', fi: 'Suomen laki' },
  certificates: [],
  apiHost: null,
  mqttUrl: null,
};

/** Returns where a value is wrong: the given path, or that of a member that is wrong, missing or unknown. */
type Check = (value: unknown, path: string) => string | undefined;

const text =
  (most: number, form: RegExp): Check =>
  (value, path) =>
    typeof value === 'string' && value.length <= most && form.test(value) ? undefined : path;
/** One line that people read: no marks that draw nothing or turn the text, and no space around it. */
const line = (most: number) => text(most, /^(?!\s)[^\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]+(?<!\s)$/u);
/** Without a host or with a port that there is not, no address can be made of it later. */
const address =
  (form: RegExp): Check =>
  (value, path) =>
    text(200, form)(value, path) ?? (URL.canParse(value as string) ? undefined : path);
const orNull =
  (check: Check): Check =>
  (value, path) =>
    value === null ? undefined : check(value, path);
const members =
  (checks: Readonly<Record<string, Check>>): Check =>
  (value, path) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return path;
    for (const name of Object.keys({ ...checks, ...value })) {
      const at = path === '' ? name : `${path}.${name}`;
      const check = Object.hasOwn(checks, name) ? checks[name] : undefined;
      const wrong = check === undefined ? at : check((value as Record<string, unknown>)[name], at);
      if (wrong !== undefined) return wrong;
    }
    return undefined;
  };
const list =
  (most: number, check: Check): Check =>
  (value, path) =>
    Array.isArray(value) && value.length <= most
      ? value.reduce<string | undefined>(
          (wrong, item, at) => wrong ?? check(item, `${path}.${at}`),
          undefined,
        )
      : path;

const email = orNull(text(254, /^[\w.'+-]+@[\w-]+(?:\.[\w-]+)+$/));
const facts: Readonly<Record<keyof OperatorFacts, Check>> = {
  productName: line(30),
  supportEmail: email,
  privacyEmail: email,
  controller: orNull(members({ name: line(120), address: line(240), country: line(60) })),
  governingLaw: members({ en: line(60), fi: line(60) }),
  certificates: list(6, members({ name: line(40), issuer: line(80) })),
};

/** Returns the path of the first wrong member of what stands in an operator's own file; undefined for a right one. */
export const wrongFact = (value: unknown): string | undefined => members(facts)(value, '');

/** Returns the path of the first wrong member of the settings as they are served, such as `controller.name`; undefined for right ones. */
export const wrongSetting = (value: unknown): string | undefined =>
  members({
    ...facts,
    apiHost: orNull(address(/^https?:\/\/[\w.:[\]-]+$/)),
    mqttUrl: orNull(address(/^wss?:\/\/[\w.:[\]-]+(?:\/[\w./~-]*)?$/)),
  })(value, '');
