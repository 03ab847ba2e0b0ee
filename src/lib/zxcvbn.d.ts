/** Single dictionaries, without the packages' lists of surnames and article words, which are most of their weight. */
declare module '@zxcvbn-ts/language-en/dist/*.json.mjs' {
  const words: (string | number)[];
  export default words;
}
declare module '@zxcvbn-ts/language-fi/dist/*.json.esm.js' {
  const words: (string | number)[];
  export default words;
}
