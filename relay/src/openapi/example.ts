import type * as z from 'zod/mini';
import type { Route } from '../../contract/index.ts';
import type { servedRoutes as routes } from '../../contract/served.ts';

type Part<R extends Route, Name extends 'params' | 'query' | 'body' | 'response'> =
  R extends Record<Name, infer Schema extends z.ZodMiniType> ? Record<Name, z.input<Schema>> : object;

/** One call as somebody might make it, and its answer. */
export type Example<R extends Route> = Part<R, 'params'> &
  Part<R, 'query'> &
  Part<R, 'body'> &
  Part<R, 'response'>;

type Routes = typeof routes;

/** Examples of the calls by their names. */
export type Examples = { readonly [Name in keyof Routes]: Example<Routes[Name]> };
