// Keeps what the example says. It comes before the example, which says it while it is imported.
export const said = [];
console.log = (text) => said.push(text);
