//! The title and the labels of a session.

/// A session's title and labels. No rule looks at either.
///
/// As a change, `None` leaves a member as it is, and an empty text removes it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Description {
    /// The title, if there is one.
    pub title: Option<String>,
    /// The labels, if there are any: the text of a JSON object.
    pub labels: Option<String>,
}

impl Description {
    /// Applies a change.
    pub fn apply(&mut self, change: Self) {
        for (member, new) in [(&mut self.title, change.title), (&mut self.labels, change.labels)] {
            if let Some(new) = new {
                *member = Some(new).filter(|new| !new.is_empty());
            }
        }
    }
}
