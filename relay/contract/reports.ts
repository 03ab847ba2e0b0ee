import * as z from 'zod/mini';
import { limits } from './limits.ts';
import { Id, Timestamp } from './primitives.ts';
import { defineRoute } from './route.ts';

export const ReportReason = z.enum(['spam', 'harassment', 'impersonation', 'illegal', 'other']);
export type ReportReason = z.infer<typeof ReportReason>;

/** Several lines; databases refuse NUL and halves of surrogate pairs. */
const text = (maxLength: number) =>
  z.string().check(z.maxLength(maxLength), z.regex(/^[^\0\p{Cs}]*$/u, 'may not hold NUL'));

/** A message as the reporter's browser shows it. Nothing proves that it was sent. */
export const ReportedMessage = z.object({ sent_at: Timestamp, text: text(limits.reportedMessageMax) });
export type ReportedMessage = z.infer<typeof ReportedMessage>;

const ReportContent = z.object({
  user_id: Id,
  reason: ReportReason,
  /** The reporter's own words. */
  text: text(limits.reportTextMax),
  /** The messages that the reporter has chosen to show. */
  messages: z.array(ReportedMessage).check(z.maxLength(limits.messagesPerReport)),
});

/** Sends the operator a report about a person, who isn't told. */
export const report = defineRoute({
  method: 'POST',
  paths: ['/reports'],
  access: 'session',
  body: ReportContent,
  status: 201,
  response: z.object({ id: Id }),
  errors: ['not-found', 'limit-reached'],
  bodyLimit: 256 * 1024,
});

export const Report = z
  .extend(ReportContent, { id: Id, created_at: Timestamp })
  .register(z.globalRegistry, { id: 'Report' });
export type Report = z.infer<typeof Report>;

/** The caller's own reports. */
export const listReports = defineRoute({
  method: 'GET',
  paths: ['/reports'],
  access: 'session',
  status: 200,
  response: z.array(Report),
  errors: [],
});
