//! The parameters of lists; what a page is and where it ends is the desk's business.

use dibao::desk::Paging;

/// The parameters that say which page.
pub trait Listed {
    fn paging(&self) -> Paging;
}

/// Declares the parameters of a list: those of its own, and which page of it.
macro_rules! list_query {
    ($(#[$about:meta])* $name:ident { $($(#[$meta:meta])* $field:ident: $type:ty),* $(,)? }) => {
        $(#[$about])*
        #[derive(Clone, Debug, Default, serde::Deserialize, schemars::JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            $($(#[$meta])* pub $field: Option<$type>,)*
            /// Items on a page.
            #[schemars(range(min = 1, max = 200))]
            pub limit: Option<u32>,
            /// Items before the page.
            #[schemars(range(min = 0, max = 1_000_000_000))]
            pub offset: Option<u64>,
            /// `cursor` of the page before, in place of `offset`.
            #[schemars(length(min = 1, max = 500))]
            pub cursor: Option<String>,
        }

        impl crate::paging::Listed for $name {
            fn paging(&self) -> dibao::desk::Paging {
                let (limit, offset, cursor) = (self.limit, self.offset, self.cursor.clone());
                dibao::desk::Paging { limit, offset, cursor }
            }
        }
    };
}
pub(crate) use list_query;
