"""The environment variables that this package and its trainer read, and what each is for."""

VARIABLES = {
    "DATA": "the folder of evaluation sets, for `make`, training and `make reproduce`",
    "AUGMENT_API_KEY": "the key of a language model's server; it is never shown or stored",
    "AUGMENT_FAST": "`0` takes the libraries' plain code in the place of the fast one, everywhere",
    "AWS_ENDPOINT_URL_S3": "an object store that is not Amazon's, before `AWS_ENDPOINT_URL`",
    "AWS_ENDPOINT_URL": "the same; the provider's other variables reach its own library",
    "AWS_REGION": "the region of a bucket; where it is missing, the bucket is asked",
    "AWS_DEFAULT_REGION": "the same",
    "HF_HOME": "the model hub's cache, which its library reads",
    "HF_HUB_OFFLINE": "`1` asks no hub, which its library reads",
    "CXX": "the C++ compiler that `compile = true` calls",
}
