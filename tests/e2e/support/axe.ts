import { AxeBuilder } from '@axe-core/playwright';
import { expect, type Page } from '@playwright/test';
import axe, { type NodeResult, type Result, type RunOptions } from 'axe-core';

type Violation = Pick<Result, 'id'> & { readonly nodes: readonly Pick<NodeResult, 'html'>[] };

/** The rules whose answer depends on the theme. */
const themeRules = ['color-contrast', 'link-in-text-block'];

/**
 * A screen reader stumbles over nothing, and every text stands out from its ground.
 * @param rules `theme` on a screen that only changes its theme since all of them were tried
 */
export async function findsNoBarriers(page: Page, rules: 'all' | 'theme' = 'all'): Promise<void> {
  // An open menu holds the focus and stands at the end of the page, outside its landmarks, as menus do.
  const isMenuOpen = (await page.getByRole('menu').count()) > 0;
  // An open list of options also hides the rest from screen readers; Tab, which would lead there, closes it.
  const isListOpen = (await page.getByRole('listbox').count()) > 0;
  const inherent = isListOpen
    ? ['region', 'page-has-heading-one', 'aria-hidden-focus']
    : isMenuOpen
      ? ['region']
      : [];
  // An element that is still fading in has another contrast than it will have.
  await page.waitForFunction(() =>
    document
      .getAnimations()
      .every(
        (animation) =>
          animation.playState !== 'running' || animation.effect?.getComputedTiming().endTime === Infinity,
      ),
  );
  // Describing everything that is as it should be takes longer than finding what is not.
  const options: RunOptions = {
    resultTypes: ['violations'],
    ...(rules === 'theme'
      ? { runOnly: themeRules }
      : { rules: Object.fromEntries(inherent.map((rule) => [rule, { enabled: false }])) }),
  };
  // Only the frame of the keys ever shows anything, and going through the frames costs a third of the time.
  const violations = (await page.locator('#keys').isVisible())
    ? (await new AxeBuilder({ page }).options(options).analyze()).violations
    : await violationsIn(page, options);
  expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)).toEqual([]);
}

/** Runs axe in the page without its frames. Bringing it there takes as long as a run, so it stays until the next page. */
async function violationsIn(page: Page, options: RunOptions): Promise<Violation[]> {
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(axe.source);
  return page.evaluate(async (runOptions) => {
    const { axe: brought } = window as unknown as { axe: typeof axe };
    const { violations } = await brought.run(document, { ...runOptions, iframes: false });
    return violations.map(({ id, nodes }) => ({ id, nodes: nodes.map(({ html }) => ({ html })) }));
  }, options);
}
