/** The words of keys.html in a language. */
export type Texts = (name: string) => string;

/** @param language of the page; English for any that isn't here */
export function textsOf(language: string): Texts {
  const templates = [...document.querySelectorAll('template')];
  const words = templates.find(({ lang }) => lang === language) ?? templates[0];
  return (name) => words?.content.querySelector(`[data-text="${name}"]`)?.textContent ?? name;
}

/** Puts a text into an element, with the target in it as text in the direction that it has itself. */
export function fill(element: Element, text: string, target: string): void {
  const [before = '', after = ''] = text.split('{target}');
  const name = document.createElement('bdi');
  name.textContent = target;
  element.replaceChildren(before, name, after);
}
