import type { uploadType } from '../../contract/blobs.ts';
import type { bytesType, partsType } from '../../contract/index.ts';

export type Json = { readonly [key: string]: unknown };

/** The fields of an OpenAPI 3.1 Operation Object that this document uses. */
export interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description: string;
  readonly security: readonly Json[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly required: boolean; readonly content: Content };
  readonly responses: { readonly [status: string]: Response };
}

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required: boolean;
  readonly schema: Json;
  readonly example?: unknown;
}

export interface Response {
  readonly description: string;
  readonly content?: Content;
}

export type Content = {
  readonly [mediaType in 'application/json' | typeof bytesType | typeof partsType | typeof uploadType]?: {
    readonly schema: Json;
    readonly example?: unknown;
    readonly examples?: Json;
  };
};
