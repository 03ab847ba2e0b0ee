/** Names a suite in a vector by what no number says, too: by 0xF04D and by 0x004D others may mean another KEM. */
export const namesOf = (suite: 0x0003 | 0xf04d) => ({
  cipher_suite: suite,
  kem: suite === 0x0003 ? 'HPKE 0x0020 (DHKEM(X25519))' : 'HPKE 0x647A (X-Wing)',
});
