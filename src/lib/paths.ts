/** Every address of the application (spec section 2, and where a forgotten password is replaced). */
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
} as const;

/** The landing page with the banner that says so (spec section 2). */
export const accountDeletedPath = `${paths.landing}?deleted=true`;
