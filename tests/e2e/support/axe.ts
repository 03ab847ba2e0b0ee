import { AxeBuilder } from '@axe-core/playwright';
import { expect, type Page } from '@playwright/test';

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
  const axe = new AxeBuilder({ page });
  // Going through the frames costs a third of the time, and only the frame of the keys ever shows anything.
  axe.setLegacyMode(!(await page.locator('#keys').isVisible()));
  const { violations } = await (rules === 'all'
    ? axe.disableRules(inherent)
    : axe.withRules(themeRules)
  ).analyze();
  expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(' ')}`)).toEqual([]);
}
