import { type RefObject, useEffect } from 'react';
import type { MessageId } from '../i18n/catalogue.ts';
import { t } from '../i18n/i18n.ts';
import type { FailureCode } from '../lib/errorCode.ts';
import type { SubmissionFailure } from './useSubmission.ts';

/** Fields and the texts of their problems, by the code of the failure. */
type FieldProblems = Partial<
  Readonly<Record<FailureCode, { readonly field: string; readonly text: MessageId }>>
>;

/** Shows a failure at its field and moves the focus there; a failure without a field belongs to the whole form. */
export function useFieldFailure(
  form: RefObject<HTMLFormElement | null>,
  failure: SubmissionFailure | null,
  problems: FieldProblems,
) {
  const problem = failure === null ? undefined : problems[failure.code];

  useEffect(() => {
    const field = failure === null ? undefined : problems[failure.code]?.field;
    const input = field === undefined ? null : form.current?.elements.namedItem(field);
    if (input instanceof HTMLInputElement) input.focus();
  }, [form, failure, problems]);

  return {
    errorOf: (field: string) => (problem?.field === field ? t(problem.text) : undefined),
    ofForm: problem === undefined ? failure?.text : undefined,
  };
}
