/** Every address of the application (spec section 2, where a forgotten password is replaced, and what can be tried out). */
export const paths = {
  landing: '/',
  login: '/login',
  signUp: '/signup',
  recover: '/recover',
  dashboard: '/dashboard',
  privacyPolicy: '/privacy-policy',
  terms: '/terms',
  about: '/about',
  contact: '/contact',
  prove: '/prove',
} as const;

/** The landing page with the banner that says so (spec section 2). */
export const accountDeletedPath = `${paths.landing}?deleted=true`;
