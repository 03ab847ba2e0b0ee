import * as z from 'zod/mini';
import { BlobErrorBody, BlobId } from '../../contract/blobs.ts';
import {
  Bytes,
  bytesType,
  ErrorBody,
  type ErrorCode,
  partsType,
  proofHeader,
  type Route,
} from '../../contract/index.ts';
import { servedRoutes as routes, type ServedErrorCode, servedErrorStatus } from '../../contract/served.ts';
import { sessionEndCodes } from '../auth/session.ts';
import { blobOperations } from './blobs.ts';
import { errorDetails } from './errorDetails.ts';
import { proofExample } from './examples/values.ts';
import type { Content, Json, Operation, Parameter, Response } from './operation.ts';
import { examples, sectionNames, sectionOf } from './sections.ts';
import { summaries } from './summaries.ts';

export interface OpenApiDocument {
  readonly openapi: '3.1.1';
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly servers: readonly { readonly url: string }[];
  readonly tags: readonly { readonly name: string }[];
  readonly paths: { readonly [path: string]: { readonly [method: string]: Operation } };
  readonly components: { readonly schemas: Json; readonly securitySchemes: Json };
}

const description = `What a client says to the relay. The relay numbers, stores and fans out what it cannot read: message
contents, group names, vaults and history arrive sealed, as unpadded base64url (RFC 4648, section 5). Where they are large, a body
is ${partsType}: the JSON, with numbers from 0 in the place of byte strings, and after it those byte strings in that order, each of
them and the JSON as opaque<V> of RFC 9420 (section 2.1.2); schemas and examples show the JSON with base64url in their
places. Every answer that is no success is an Error with a stable code. Messages also travel by MQTT 5 on /mqtt, and presence by WebSocket on
/ws/presence/.`;

const access = {
  public: 'For everybody.',
  session: 'For who is signed in.',
  device: 'For who is signed in on a registered device.',
} as const;

/** The OpenAPI 3.1 document of the contract: nothing in it is written twice. */
export function buildDocument(): OpenApiDocument {
  const schemas = new Schemas();
  const paths: Record<string, Record<string, Operation>> = {};
  for (const name of Object.keys(routes) as (keyof typeof routes)[]) {
    const route: Route = routes[name];
    for (const [index, path] of route.paths.entries()) {
      const operation = operationOf(name, route, index, schemas);
      paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation };
    }
  }
  schemas.output(BlobId);
  const files = blobOperations((codes) =>
    errorResponses([...new Set([...sessionErrors, ...codes, ...commonErrors])], schemas, BlobErrorBody),
  );
  for (const [path, methods] of Object.entries(files)) paths[path] = { ...paths[path], ...methods };
  return {
    openapi: '3.1.1',
    info: { title: 'Sinetti relay', version: '1', description: description.replaceAll('\n', ' ') },
    servers: [{ url: '/api' }],
    tags: sectionNames.map((name) => ({ name })),
    paths,
    components: {
      schemas: schemas.components,
      securitySchemes: { token: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } },
    },
  };
}

const commonErrors = ['rate-limited', 'storage-full', 'unavailable', 'internal'] as const;
const sessionErrors = ['unauthenticated', ...sessionEndCodes, 'forbidden'] as const;

/** Every code that a call can answer: its own, and those that come of what it takes. */
export function errorsOf(route: Route): ErrorCode[] {
  const codes = new Set<ErrorCode>(route.errors);
  if (route.access !== 'public') {
    for (const code of ['unauthenticated', ...sessionEndCodes] as const) codes.add(code);
    if (route.recovery !== true) codes.add('forbidden');
  }
  if (route.access === 'device') codes.add('device-required');
  if (route.proof !== undefined)
    for (const code of ['proof-required', 'proof-refused'] as const) codes.add(code);
  if ([route.params, route.query, route.body].some((schema) => schema !== undefined)) {
    codes.add('invalid-request');
  }
  for (const code of ['malformed', 'unsupported-media-type', 'payload-too-large'] as const) {
    if (route.body !== undefined) codes.add(code);
  }
  for (const code of commonErrors) codes.add(code);
  return [...codes];
}

function operationOf(name: keyof typeof routes, route: Route, index: number, schemas: Schemas): Operation {
  const example: { query?: object; params?: object; body?: unknown; response?: unknown } = examples[name];
  const parameters = [
    ...(route.conditional === true ? [conditionParameter] : []),
    ...(route.proof === undefined ? [] : [proofParameter(route.proof.unless === undefined)]),
    ...parametersOf('path', route.params, example.params, schemas),
    ...parametersOf('query', route.query, example.query, schemas),
  ];
  const canonical = index === 0 ? '' : ` The same as ${route.method} ${route.paths[0]}.`;
  return {
    // The specification's fallback paths are calls of their own here.
    operationId: index === 0 ? name : `${name}${index + 1}`,
    tags: [sectionOf(name)],
    summary: summaries[name],
    description: `${access[route.access]}${proofSentence(route)}${canonical}`,
    security: route.access === 'public' ? [] : [{ token: [] }],
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(route.body === undefined
      ? {}
      : {
          requestBody: {
            required: route.body === Bytes || !route.body.safeParse(undefined).success,
            content:
              route.body === Bytes
                ? bytes
                : described(route.bodyParts, { schema: schemas.input(route.body), example: example.body }),
          },
        }),
    responses: {
      [route.status]: {
        description: 'Success',
        ...(route.response === undefined
          ? {}
          : {
              content:
                route.response === Bytes
                  ? bytes
                  : described(route.responseParts, {
                      schema: schemas.output(route.response),
                      example: example.response,
                    }),
            }),
      },
      ...(route.conditional === true
        ? { 304: { description: 'It is what the request has the tag of' } }
        : {}),
      ...errorResponses(errorsOf(route), schemas, ErrorBody),
    },
  };
}

/** Says what a call takes beside the session. */
function proofSentence({ proof }: Route): string {
  if (proof === undefined) return '';
  const exception = proof.unless === undefined ? '' : `, unless ${proof.unless}`;
  return ` With a proof by the password or the recovery key${exception}.`;
}

const conditionParameter: Parameter = {
  name: 'if-none-match',
  in: 'header',
  required: false,
  schema: { type: 'string' },
  example: '"pMR9mEN9LEZrAcECwVPRRA"',
};

const proofParameter = (required: boolean): Parameter => ({
  name: proofHeader,
  in: 'header',
  required,
  schema: { type: 'string' },
  example: proofExample,
});

function parametersOf(
  where: 'path' | 'query',
  schema: z.ZodMiniType | undefined,
  example: object | undefined,
  schemas: Schemas,
): Parameter[] {
  if (schema === undefined) return [];
  const { properties = {}, required = [] } = schemas.input(schema) as {
    properties?: Record<string, Json>;
    required?: string[];
  };
  const examplesByName = new Map(Object.entries(example ?? {}));
  return Object.entries(properties).map(([name, property]) => ({
    name,
    in: where,
    required: required.includes(name),
    schema: property,
    ...(examplesByName.has(name) ? { example: examplesByName.get(name) } : {}),
  }));
}

function errorResponses(
  refused: readonly ServedErrorCode[],
  schemas: Schemas,
  body: z.ZodMiniType,
): Record<string, Response> {
  const byStatus = new Map<number, ServedErrorCode[]>();
  for (const code of refused) {
    const status = servedErrorStatus[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => [
      status,
      {
        description: codes.map((code) => `\`${code}\``).join(', '),
        content: json({
          schema: schemas.output(body),
          examples: Object.fromEntries(
            codes.map((code) => [code, { value: { detail: errorDetails[code], code } }]),
          ),
        }),
      },
    ]),
  );
}

type Described = NonNullable<Content['application/json']>;
const json = (content: Described): Content => ({ 'application/json': content });
const described = (parts: Route['bodyParts'], content: Described): Content =>
  parts === undefined ? json(content) : { [partsType]: content };
/** In OpenAPI 3.1 bytes have no schema of JSON. */
const bytes: Content = { [bytesType]: { schema: {} } };

/** JSON Schemas of the contract's; what has a name is a component. */
class Schemas {
  readonly components: Record<string, Json> = {};

  /** Converts the schema of a value that a caller sends. */
  input(schema: z.ZodMiniType): Json {
    return this.#convert(schema, 'input');
  }

  /** Converts the schema of a value that a caller receives. */
  output(schema: z.ZodMiniType): Json {
    return this.#convert(schema, 'output');
  }

  #convert(schema: z.ZodMiniType, io: 'input' | 'output'): Json {
    const converted = z.toJSONSchema(schema, {
      io,
      // Callers must expect properties that come later, so that both directions are one schema.
      override: ({ jsonSchema }) => {
        delete jsonSchema.additionalProperties;
      },
    });
    const {
      $schema: _,
      $defs: definitions = {},
      ...root
    } = withComponentReferences(converted) as Json & {
      $defs?: Record<string, Json>;
    };
    for (const [name, definition] of Object.entries(definitions)) this.#define(name, definition);
    return root;
  }

  #define(name: string, definition: Json): void {
    const known = this.components[name];
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(definition)) {
      throw new Error(`Two schemas of the contract are called ${name}.`);
    }
    this.components[name] = definition;
  }
}

function withComponentReferences(schema: unknown): unknown {
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/$defs/', '"#/components/schemas/'));
}
