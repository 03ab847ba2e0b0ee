import { type RefObject, useEffect } from 'react';
import type { MessageId } from '../i18n/catalogue.ts';
import { t } from '../i18n/i18n.ts';
import type { SubmissionFailure } from './useSubmission.ts';

/** What is wrong with a field, by the code of the failure that says so. */
type FieldProblems = Readonly<Record<string, { readonly field: string; readonly text: MessageId }>>;

/** Says a failure at the field that it is about, and puts the person there; any other is said of the whole form. */
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
