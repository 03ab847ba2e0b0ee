/** The look of the documentation page: readable at any width, in light and dark. */
export const stylesheet = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 60rem; margin: 0 auto; padding: 1rem; }
h2 { border-bottom: 1px solid; margin-top: 3rem; }
h3 { margin: 2rem 0 0.25rem; overflow-wrap: anywhere; }
h3 code { font-size: 1.125rem; }
h4 { margin: 1rem 0 0.25rem; font-size: 1rem; }
p { margin: 0.25rem 0; }
code, pre { font-family: ui-monospace, monospace; font-size: 0.875rem; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; padding: 0.75rem; border: 1px solid; border-radius: 0.25rem; }
nav ul { display: flex; flex-wrap: wrap; gap: 1rem; padding: 0; list-style: none; }
table { border-collapse: collapse; }
td { overflow-wrap: anywhere; }
th, td { padding: 0.25rem 0.75rem 0.25rem 0; text-align: start; vertical-align: top; }
`;
